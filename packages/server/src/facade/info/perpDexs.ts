/** The main one, which has no name, and no others. */
export function perpDexs(): unknown {
  return [null]
}
