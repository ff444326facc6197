/** What a program needs that is to have nothing of this environment: the way to other programs, and what Node compiled before. */
export const bareEnvironment = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}
