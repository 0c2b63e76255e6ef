/** Addresses that mean every interface. Nobody can open them, so a URL names this machine instead. */
const WILDCARD_HOSTS: readonly string[] = ['0.0.0.0', '::']

/** Where a server that listens on `host` and `port` is reached from this machine. */
export function httpUrl(host: string, port: number): string {
  const reachable = WILDCARD_HOSTS.includes(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
