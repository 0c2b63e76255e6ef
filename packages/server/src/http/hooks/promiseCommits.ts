import { ApiError, type ChainSlug } from '@bezel/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { AFTER_HEADER, COMMIT_HEADER } from '../../access/signatureHeaders.ts'
import { notReady } from '../../ground/unavailable.ts'
import { requireFresh, settleFresh, type ChainCommits } from '../../journal/commits.ts'
import { chainParam } from './authenticate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The commits of the chain that a private request is about, and the last one that its answer includes. */
    includedCommit: IncludedCommit | undefined
  }
  interface FastifyContextConfig {
    /** True for a route whose answers come from what the process remembers of a chain and its traders. */
    isPrivate?: boolean
  }
}

interface IncludedCommit {
  readonly chain: ChainSlug
  readonly commits: ChainCommits
  readonly number: number
}

interface CommitPromises {
  /** Returns the commits of a chain; `undefined` when it is not served. */
  readonly commitsOf: (slug: string) => ChainCommits | undefined
  /** The commits of all chains, for a route that names none and takes credentials of any. */
  readonly all: readonly ChainCommits[]
  readonly headerPrefix: string
}

/** Longest time that a request waits for a commit of another node. */
const WAIT_MS = 250

const AFTER_PATTERN = /^([a-z0-9-]+):(\d{1,15})$/

/**
 * Makes the answers of private routes say which commit they include, and wait for the one that a client names: a client
 * that meets another node with each request then never sees less than before. Register it before the routes.
 */
export function promiseCommits(app: FastifyInstance, of: CommitPromises): void {
  app.decorateRequest('includedCommit', undefined)
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.isPrivate !== true) return
    const isOfChain = route.url.includes(':chain')
    route.preValidation = [isOfChain ? awaitCommit(of) : awaitAll(of), ...[route.preValidation ?? []].flat()]
    if (!isOfChain) return
    route.onSend = [tellCommit(of), ...[route.onSend ?? []].flat()]
  })
}

/** Waits for what other nodes committed, so that an agent that one of them revoked is revoked here. */
function awaitAll({ all }: CommitPromises) {
  return async (): Promise<void> => void (await Promise.all(all.map(settleFresh)))
}

function awaitCommit({ commitsOf, headerPrefix }: CommitPromises) {
  return async (request: FastifyRequest): Promise<void> => {
    const chain = chainParam(request)
    const commits = commitsOf(chain)
    if (commits === undefined) return
    const asked = readAfter(request, headerPrefix)
    if (asked?.chain === chain && !(await commits.reached(asked.number, WAIT_MS))) throw notReady('store_lagging')
    // What the store tells is as of now, so what is in memory should be too.
    if (request.method === 'GET') await settleFresh(commits)
    else requireFresh(commits)
    request.includedCommit = { chain: chain as ChainSlug, commits, number: commits.applied() }
  }
}

/** Tells the commit that an answer includes at least: of a read what was known before it, of a write its own. */
function tellCommit({ headerPrefix }: CommitPromises) {
  return (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void => {
    const included = request.includedCommit
    if (included !== undefined) {
      const { chain, commits, number } = included
      const last = request.method === 'GET' ? number : Math.max(commits.applied(), commits.written())
      reply.header(headerPrefix + COMMIT_HEADER, `${chain}:${last}`)
    }
    done()
  }
}

function readAfter(
  { headers }: FastifyRequest,
  prefix: string,
): { readonly chain: string; readonly number: number } | undefined {
  const text = headers[(prefix + AFTER_HEADER).toLowerCase()]
  if (text === undefined) return undefined
  const [, chain, number] = AFTER_PATTERN.exec(String(text)) ?? []
  if (chain !== undefined && number !== undefined) return { chain, number: Number(number) }
  const issues = [
    {
      path: `headers.${prefix}${AFTER_HEADER}`,
      message: `must be a chain and a number, as ${prefix}${COMMIT_HEADER} has them`,
    },
  ]
  throw new ApiError('VALIDATION_ERROR', `The header ${prefix}${AFTER_HEADER} is malformed.`, { issues })
}
