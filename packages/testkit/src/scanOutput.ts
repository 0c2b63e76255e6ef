import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { DevnetFile } from './startDevnet.ts'

/** A text that no program may write, and what it is. */
export interface KnownSecret {
  readonly kind: string
  readonly text: string
}

/** The watch over everything that a child process writes. */
export interface OutputScan {
  /** Returns the number of lines that were written so far. */
  lines(): number
  /** Waits until all output was read. Throws when a secret was in it, without telling the secret. */
  end(): Promise<void>
}

/** Secrets that are known by their form. */
const FORMS: readonly { readonly kind: string; readonly form: RegExp }[] = [
  { kind: 'a signature', form: /(?<![0-9a-z])0x[0-9a-f]{130}(?![0-9a-f])/i },
  { kind: 'an API key', form: /bz_[A-Za-z0-9_-]{43}/ },
  { kind: 'a private key', form: /(?:private|secret|relayer)[ _-]?key\W{1,6}(?:0x)?[0-9a-f]{64}(?![0-9a-f])/i },
  { kind: 'a password in an address', form: /[a-z][a-z+]*:\/\/[^\s/@:"]*:[^\s/@"]+@/i },
  // Their values are in braces or quotes, which are escaped inside of a message.
  { kind: 'a request', form: /\\*"(?:body|rawBody|rawBytes|headers|payload|envelope)\\*":\s*(?:\\*"|[{[])/ },
  { kind: 'a credential', form: /\\*"(?:x-service-[a-z-]+|signature|apiKey|authorization|password)\\*":\s*\\*"/i },
]

/** Returns what a line holds that must not be written. Known texts are found in any case, and without their `0x`. */
export function secretsIn(line: string, known: readonly KnownSecret[] = []): string[] {
  const found = FORMS.filter(({ form }) => form.test(line)).map(({ kind }) => kind)
  const lower = line.toLowerCase()
  const told = known.filter(({ text }) => lower.includes(text.toLowerCase().replace(/^0x/, '')))
  return [...new Set([...found, ...told.map(({ kind }) => kind)])]
}

/** Returns the secrets among the settings of a service: the relayer's key, and passwords as written and as meant. */
export function secretsOfSettings(env: Readonly<Record<string, string | undefined>>): KnownSecret[] {
  // An empty setting is none.
  const { BEZEL_RELAYER_KEY: relayerKey = '' } = env
  return [
    ...(relayerKey === '' ? [] : [{ kind: "the relayer's key", text: relayerKey }]),
    ...['DATABASE_URL', 'REDIS_URL'].flatMap((name) => {
      const password = /:\/\/[^/@:]*:(.+)@/.exec(env[name] ?? '')?.[1]
      if (password === undefined) return []
      return [password, decoded(password)].map((text) => ({ kind: `the password of ${name}`, text }))
    }),
  ]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the private keys of the accounts of a local chain. */
export function secretsOfChain({ accounts }: Pick<DevnetFile, 'accounts'>): KnownSecret[] {
  return accounts.map(({ name, privateKey }) => ({ kind: `the private key of ${name}`, text: privateKey }))
}

/**
 * Searches each line that a child process writes for secrets. `onLine` gets the lines that have none. The streams of
 * the child have to be pipes.
 */
export function scanOutput(
  child: Pick<ChildProcess, 'stdout' | 'stderr'>,
  of: { readonly name: string; readonly secrets: readonly KnownSecret[]; readonly onLine?: (line: string) => void },
): OutputScan {
  const faults: string[] = []
  let count = 0
  const ended = [child.stdout, child.stderr].map(async (stream) => {
    if (stream === null) return
    const lines = createInterface(stream)
    lines.on('line', (line) => {
      count += 1
      const kinds = secretsIn(line, of.secrets)
      if (kinds.length === 0) of.onLine?.(line)
      else faults.push(`${kinds.join(' and ')} in line ${count} of its output, which ${tellPlace(line)}`)
    })
    await once(lines, 'close')
  })
  return {
    lines: () => count,
    async end() {
      await Promise.all(ended)
      if (faults.length > 0) throw new Error(`${of.name} wrote ${faults.join('; ')}`)
    },
  }
}

/** Tells what a line is about without its content: the message of a line of the log, without anything in digits. */
function tellPlace(line: string): string {
  const message = /"msg":"([a-zA-Z ,;:']*)"\}$/.exec(line)?.[1]
  return message === undefined ? 'is no line of the log' : `says "${message}"`
}
