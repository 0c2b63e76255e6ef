/** The way in which the user starts this program now. A command of a remedy is spelled the same way. */
export interface Typing {
  /** Words that start the program: `bezel`, or `npx bezel`. */
  readonly program: string
  /** Options that the user typed and that say where and for whom, each with its value: `--as trader-2`. */
  readonly options: readonly string[]
}

export const PLAIN_TYPING: Typing = { program: 'bezel', options: [] }

/**
 * Spells out the commands of a text, each of which stands in backquotes: `bezel approve USDC 5` gets the options that
 * the user typed, so that it acts for the same agent on the same chain when it is pasted as shown. The backquotes go,
 * because a shell would run what is between them. `space` stands between the words of a command: text that is broken
 * into lines takes `NO_BREAK`, because half a command may mean something else.
 */
export function spellCommands(text: string, { program, options }: Typing = PLAIN_TYPING, space = ' '): string {
  return text.replaceAll(/`bezel ([^`]+)`/g, (_, line: string) => {
    const words = line.split(' ')
    const more = options.filter((option) => !words.includes(option.split(' ')[0]!))
    return [program, line, ...more].join(' ').replaceAll(' ', space)
  })
}

/** Returns the end of a sentence that says what to do about an order that goes on by itself. */
export function laterAdvice(id: string, status: string): string {
  const look = 'look at it with `bezel orders --history`'
  if (status === 'open') return `${look}, or end it with \`bezel cancel ${id}\``
  return `${look}. If the oracle never answers, get the collateral back with \`bezel cancel ${id}\``
}

/** Returns the sentence that says how to get a change back which the oracle has not answered in time. */
export function reclaimAdvice(id: string): string {
  return `The oracle did not answer the change of position ${id} in time. Closing or changing the position takes it back, and so does \`bezel reclaim ${id}\``
}

/** The rights that a refused request would have needed. */
interface WantedRights {
  readonly markets?: readonly string[]
  readonly leverage?: string
  /** Notional of the whole day in USD, with this request. */
  readonly capUsd?: string | undefined
}

/**
 * Returns the sentence that says how the trader gives an agent a right that it lacks, by the code of the refusal;
 * `undefined` for a code that is about something else. The command has dots, which are refused when they are pasted:
 * without the other limits it would take them away.
 */
export function rightsAdvice(code: string, { markets, leverage, capUsd }: WantedRights): string | undefined {
  const option = (name: string, value: string | undefined): string => (value === undefined ? '' : ` ${name} ${value}`)
  const options: Readonly<Record<string, string>> = {
    AGENT_REVOKED: '',
    AGENT_EXPIRED: ' --expires 30d',
    SCOPE_READ_ONLY: '',
    SCOPE_MARKET_NOT_ALLOWED: option('--markets', markets?.join(',')),
    SCOPE_LEVERAGE_EXCEEDED: option('--max-leverage', leverage),
    SCOPE_SPEND_CAP_EXCEEDED: option('--daily-cap', capUsd),
  }
  if (!Object.hasOwn(options, code)) return undefined
  return `The trader authorises it anew, with every limit that is to stay in place of the dots, since limits that are left out end (\`bezel agent status\` lists them): \`bezel agent authorise${options[code]} ...\``
}
