import type { AuthenticateOptions } from '../http/hooks/authenticate.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
export interface PrivateContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly agentsOf: (slug: string) => ChainAgents
  readonly authenticate: AuthenticateOptions
  readonly now: () => number
}
