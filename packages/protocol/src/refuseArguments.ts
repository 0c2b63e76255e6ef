import { StartupError } from './startupError.ts'

/** For programs that are told everything by settings: an argument that would be ignored is refused. `argv` as node gives it. */
export function refuseArguments(argv: readonly string[]): void {
  const [, , argument] = argv
  if (argument === undefined) return
  throw new StartupError(
    `Unknown argument ${JSON.stringify(argument)}: this program takes settings from the environment, no arguments.`,
  )
}
