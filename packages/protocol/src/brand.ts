declare const brand: unique symbol

/** A `Base` that only the parse function of `Name` can make, so an unchecked value can't be passed in its place. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
