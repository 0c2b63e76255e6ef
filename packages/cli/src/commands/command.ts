import type { CommandArguments } from '../arguments/commandArguments.ts'
import type { OptionTable } from '../arguments/optionSpec.ts'
import type { Environment } from '../connection/environment.ts'
import type { Interruption } from '../interruption.ts'
import type { Output } from '../output/createOutput.ts'

/** What stands behind the name of a command. */
export interface Operand {
  readonly name: string
  readonly what: string
  readonly isOptional?: boolean
  /** The last one may take all that follow. */
  readonly isMany?: boolean
}

/** What a command works with. */
export interface CommandContext {
  readonly args: CommandArguments
  readonly output: Output
  readonly environment: Environment
  readonly interruption: Interruption
}

/** One command of `bezel`: its `--help` is made from this. */
export interface Command {
  /** One word, or two. */
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly operands: readonly Operand[]
  readonly options: OptionTable
  /** Without the leading `bezel`. */
  readonly examples: readonly string[]
  readonly run: (context: CommandContext) => Promise<void>
}
