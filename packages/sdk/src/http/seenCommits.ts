/**
 * The newest commit of each chain that an answer included. A deployment may have several nodes; each later request
 * asks for an answer that includes it too, so that nobody sees less than before.
 */
export interface SeenCommits {
  /** Returns the header of a call that needs credentials. */
  headersOf(call: { readonly auth: unknown; readonly path: string }): Readonly<Record<string, string>>
  /** Takes over what an answer says. */
  note(answer: Pick<Response, 'headers'>): void
  forget(): void
}

const COMMIT_PATTERN = /^([a-z0-9-]+):(\d{1,15})$/

const CHAIN_PATTERN = /^\/v1\/([a-z0-9-]+)\//

export function createSeenCommits(headerPrefix: string): SeenCommits {
  const numbers = new Map<string, number>()
  return {
    headersOf({ auth, path }) {
      const chain = auth === 'none' ? undefined : CHAIN_PATTERN.exec(path)?.[1]
      const number = chain === undefined ? undefined : numbers.get(chain)
      return number === undefined ? {} : { [`${headerPrefix}After`]: `${chain}:${number}` }
    },
    note({ headers }) {
      const [, chain, number] = COMMIT_PATTERN.exec(headers.get(`${headerPrefix}Commit`) ?? '') ?? []
      if (chain !== undefined) numbers.set(chain, Math.max(numbers.get(chain) ?? 0, Number(number)))
    },
    forget: () => numbers.clear(),
  }
}
