import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Something else served on the same port below a path prefix, such as the price feed. */
export interface Mount {
  onRequest(request: IncomingMessage, response: ServerResponse): void
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export interface Mounts {
  add(prefix: string, mount: Mount): void
  find(path: string): Mount | undefined
}

export function createMounts(): Mounts {
  const byPrefix = new Map<string, Mount>()
  return {
    add(prefix, mount) {
      if (!/^(\/[\w-]+)+$/.test(prefix))
        throw new Error(`a mount prefix looks like /feed, not ${JSON.stringify(prefix)}`)
      byPrefix.set(prefix, mount)
    },
    find(path) {
      for (const [prefix, mount] of byPrefix) if (path === prefix || path.startsWith(`${prefix}/`)) return mount
      return undefined
    },
  }
}
