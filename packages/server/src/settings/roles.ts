import { SettingsError, type Setting } from '@bezel/protocol'

/** The roles of which one node at a time leads each, by a lease. */
const LEADER_ROLES = ['follower', 'relayer', 'keeper'] as const

export type LeaderRole = (typeof LEADER_ROLES)[number]

/** The roles that a node can have. Every node with the role `api` answers requests at the same time. */
const ROLES = ['api', ...LEADER_ROLES] as const

export type Role = (typeof ROLES)[number]

export const ROLES_SETTING: Setting<readonly Role[]> = {
  what: 'roles of this node, separated by commas: api answers requests, follower reads the chains, relayer holds the key and sends, keeper does what is due by time; on SQLite all are needed',
  defaultText: ROLES.join(','),
  defaultValue: ROLES,
  allowed: `one or more of ${ROLES.join(', ')}, separated by commas`,
  parse(text) {
    const named = text.split(',').map((name) => name.trim())
    const known = ROLES.filter((role) => named.includes(role))
    return known.length === new Set(named).size ? known : undefined
  },
}

/** Throws a `SettingsError` when a node leaves out roles though no other node can have them. */
export function requireAllRoles(roles: readonly Role[], databaseUrl: string | undefined): void {
  const missing = ROLES.filter((role) => !roles.includes(role))
  if (databaseUrl !== undefined || missing.length === 0) return
  throw new SettingsError(
    `BEZEL_ROLES leaves out ${missing.join(', ')}, but the data is in SQLite, which one process has alone: leave BEZEL_ROLES out, or set DATABASE_URL.`,
  )
}
