/** The arguments of one command, known to be complete and of its own. */
export interface CommandArguments {
  readonly operands: readonly string[]
  /** Of an option with a value. */
  text(name: string): string | undefined
  flag(name: string): boolean
}
