/** An option of the command line. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** What stands for its value in `--help`. */
  readonly value?: string
  readonly what: string
}

export type OptionTable = Readonly<Record<string, OptionSpec>>
