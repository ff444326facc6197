/** Whether two types are the same, also where each fits into the other. */
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles where the two types are the same, and shows both where they are not. It does nothing when it runs. */
export const same = <A, B>(..._mismatch: IsSame<A, B> extends true ? [] : [A, "is not", B]): void => {}
