import type { Socket } from 'node:net'
import { ApiError } from '@bezel/protocol'
import type { StreamBounds } from '../bounds.ts'

/** How many sockets there may be, in all and from one network. */
export interface Places {
  /** Takes a place until the socket is closed. Throws `NOT_READY` or `RATE_LIMITED` when there is none. */
  take(network: string, socket: Socket): void
}

export function createPlaces({ maxSockets, maxSocketsPerIp }: StreamBounds): Places {
  const byNetwork = new Map<string, number>()
  let taken = 0

  function free(network: string): void {
    const left = (byNetwork.get(network) ?? 1) - 1
    if (left === 0) byNetwork.delete(network)
    else byNetwork.set(network, left)
    taken -= 1
  }

  return {
    take(network, socket) {
      const ofNetwork = byNetwork.get(network) ?? 0
      if (ofNetwork >= maxSocketsPerIp) throw tooManyOfIp(maxSocketsPerIp)
      if (taken >= maxSockets) throw full()
      byNetwork.set(network, ofNetwork + 1)
      taken += 1
      socket.once('close', () => free(network))
    },
  }
}

function tooManyOfIp(max: number): ApiError {
  return new ApiError('RATE_LIMITED', `An IP has at most ${max} sockets; close one first.`, { scope: 'ip' })
}

function full(): ApiError {
  return new ApiError('NOT_READY', 'All sockets of this service are in use. Retry.', { reason: 'sockets_in_use' })
}
