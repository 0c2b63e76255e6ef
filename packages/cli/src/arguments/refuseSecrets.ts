import { UsageError } from '../errors/cliError.ts'

/** Matches more hexadecimal digits than any address or number has, so that a key which lost a digit is found too. */
const LONG_HEX = /[0-9a-fA-F]{56,}/

/** Matches 12 or more words in one argument: a recovery phrase. */
const PHRASE = /^\s*(?:[a-z]+\s+){11,}[a-z]+\s*$/

const KEY_OPTION = /^--?(?:private-?key|secret|mnemonic|seed|password|passphrase|agent-key|trader-key|api-key)(?:=|$)/i

/** Refuses arguments that look like a secret, before anything else looks at them or repeats them. */
export function refuseSecrets(argv: readonly string[]): void {
  if (argv.some((argument) => LONG_HEX.test(argument) || PHRASE.test(argument))) {
    throw new UsageError(
      'An argument looks like a private key. Keys are never taken from arguments, because every program on this machine can read those and shells keep them: use a keystore (bezel agent new, --keystore) or the environment (BEZEL_AGENT_KEY, BEZEL_TRADER_KEY). If it was a real key, take it as known to others.',
    )
  }
  const option = argv.find((argument) => KEY_OPTION.test(argument))
  if (option === undefined) return
  throw new UsageError(
    `There is no ${option.split('=')[0]}: secrets are never taken from arguments. Use a keystore (--keystore) or the environment (BEZEL_AGENT_KEY, BEZEL_TRADER_KEY, BEZEL_API_KEY, BEZEL_KEYSTORE_PASSWORD_FILE).`,
  )
}
