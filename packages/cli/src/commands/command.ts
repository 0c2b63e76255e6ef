import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import type { Environment } from '../connection/environment.ts'
import type { Interruption } from './interruption.ts'
import type { Output } from '../output/createOutput.ts'

/** A positional argument of a command. */
interface Operand {
  readonly name: string
  readonly what: string
  readonly isOptional?: boolean
  /** Marks the last operand, which takes all words that follow. */
  readonly isMany?: boolean
}

/** Everything that a running command may use. */
export interface CommandContext {
  readonly args: CommandArguments
  readonly output: Output
  readonly environment: Environment
  readonly interruption: Interruption
  /** Every command of the program. */
  readonly commands: readonly Command[]
}

/** A command of `bezel`. Its `--help` text is made from this record. */
export interface Command {
  /** Name of one or two words: `close`, `agent new`. */
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly operands: readonly Operand[]
  readonly options: OptionTable
  /** Example command lines without the leading `bezel`. */
  readonly examples: readonly string[]
  readonly run: (context: CommandContext) => Promise<void>
}
