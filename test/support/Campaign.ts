/** How much tests do that stand for something large: a part of it unless LAYERHOST_TEST_FULL asks for all. */
export const isFull = Boolean(process.env["LAYERHOST_TEST_FULL"])

/** The full size, or the size that every run of the tests has time for. */
export const sized = (full: number, usual: number): number => (isFull ? full : usual)

/** The time limit of such a test, in milliseconds. */
export const timeout = isFull ? 1_200_000 : 60_000
