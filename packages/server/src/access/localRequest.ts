import type { FastifyRequest } from 'fastify'
import { parseIpAddress } from './ipAddress.ts'

/** Headers by which a proxy shows that it forwarded a request. */
const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const

const LOOPBACK_IPV6 = '0:0:0:0:0:0:0:1'

/** Names of this machine in a `Host` header, with or without a port. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * True for a request from this machine. A proxy on it connects from loopback for anybody, so a forwarded request is not
 * local.
 */
export function isLocalRequest({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (FORWARDED_HEADERS.some((name) => headers[name] !== undefined)) return false
  const ip = parseIpAddress(socket.remoteAddress ?? '')
  return ip !== undefined && (ip === LOOPBACK_IPV6 || ip.startsWith('127.'))
}

/**
 * True for the address of this machine as a `Host` header or the HOST setting names it. A page of a stranger whose name
 * leads to this machine (DNS rebinding) sends the stranger's name.
 */
export function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && (host === '::1' || LOOPBACK_HOST.test(host))
}
