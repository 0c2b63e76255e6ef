import { findRedis } from '@bezel/testkit/startRedis.ts'
import { aptInstall } from './aptInstall.ts'

/** The program of a server, and whether it was installed just now. */
export interface Redis {
  readonly program: string
  readonly isNew: boolean
}

/**
 * Finds Redis or Valkey, 7 or newer. Installs Redis first on a machine that may install it, and throws where it can't.
 */
export function installRedis(): Redis {
  const present = findRedis()
  if (present !== undefined) return { program: present, isNew: false }
  const problem = aptInstall(['redis-server'])
  const installed = findRedis()
  if (installed !== undefined) return { program: installed, isNew: true }
  throw new Error(
    `the tests of several nodes need Redis 7 or newer: ${problem ?? 'the package was installed, but it is older'}`,
  )
}
