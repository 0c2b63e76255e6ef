import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@bezel/protocol'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { LimitAnswer } from '../../access/limits.ts'
import type { Caller } from '../../access/caller.ts'
import { requireAllowed } from '../../access/limitAnswers.ts'
import { servedChainOf } from '../../access/servedChainOf.ts'
import type { IpCharge } from './ipCharge.ts'
import type { Places } from './places.ts'
import type { SocketKind } from './socketKind.ts'

/** A client that may come in. */
export interface Admitted {
  readonly kind: SocketKind
  readonly chain: ServedChain
  readonly network: string
  readonly caller: Caller | undefined
}

export interface AdmissionOptions {
  readonly chains: readonly ServedChain[]
  readonly kinds: readonly SocketKind[]
  readonly ipCharge: IpCharge
  readonly places: Places
}

/** Cheapest checks first, and the IP pays before anything is looked at. Throws an `ApiError`. `onCharge` hears what the charge said. */
export async function admit(
  request: IncomingMessage,
  socket: Socket,
  options: AdmissionOptions,
  onCharge: (answer: LimitAnswer) => void,
): Promise<Admitted> {
  const network = options.ipCharge.networkOf(request)
  const answer = await options.ipCharge.take(network)
  onCharge(answer)
  requireAllowed(answer)
  const { kind, chain } = placeOf(request.url ?? '', options)
  // A place is given back when its socket closes, which happens only once.
  if (socket.destroyed) throw new ApiError('VALIDATION_ERROR', 'The client has gone.')
  options.places.take(network, socket)
  return { kind, chain, network, caller: await kind.authenticateUpgrade(chain, request) }
}

function placeOf(
  url: string,
  { kinds, chains }: Pick<AdmissionOptions, 'kinds' | 'chains'>,
): { kind: SocketKind; chain: ServedChain } {
  for (const kind of kinds) {
    const [, slug] = kind.path.exec(url) ?? []
    if (slug !== undefined) return { kind, chain: servedChainOf(chains, slug) }
  }
  throw new ApiError('NOT_FOUND', 'There is no WebSocket here; it is at /v1/{chain}/ws.')
}

/** Other protocols that a client offers to change to (HTTP/2, mostly) are passed over: it asks in HTTP, too. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket'
}
