import type { FastifyBaseLogger } from 'fastify'
import type { Role } from '../settings/roles.ts'
import type { LeaseName } from '../store/leaseStore.ts'
import type { Store } from '../store/sql.ts'
import type { AccountLog } from './accountLog.ts'
import { fenced, fencedLog, openLease, type LeaseRounds } from './leases.ts'

/** The parts that the work of a leader is made with. */
export interface Leader {
  /** The store, whose transactions are refused once another node leads. */
  readonly store: Store
  /** Returns a log whose transactions are refused once another node leads. */
  fencedLog<Log extends Pick<AccountLog, 'transaction'>>(log: Log): Log
  /** Ends the work, when another node leads or the service stops. */
  readonly open: AsyncDisposableStack
}

/** The roles of this node, and the work that it does where it leads. */
export interface Roles {
  has(role: Role): boolean
  /** True when one process has all roles for good, because no other can use its data. */
  readonly isAlone: boolean
  /**
   * Does the work of a role on a chain whenever this node leads it; never without the role. Resolves after the first
   * try to lead; `open` ends the work for good.
   */
  lead(
    name: LeaseName,
    open: AsyncDisposableStack,
    work: (leader: Leader) => void | Promise<void>,
    /** Returns what the leader tells all other nodes. Default: nothing. */
    tell?: () => string,
  ): Promise<void>
  /** Returns the leads that this node has or waits for, and which of them it has now. */
  leads(): readonly RoleLead[]
  /** Ends the work of all leaders and gives their leases away, so that other nodes go on while this one stops. */
  release(): Promise<void>
}

/** A role on a chain that this node leads or would lead. */
export interface RoleLead extends LeaseName {
  readonly isHeld: boolean
}

interface RolesOptions {
  readonly roles: readonly Role[]
  readonly store: Store
  /** Name of this process, which no other one ever has. */
  readonly holder: string
  /** Returns false while this node must not lead. */
  readonly mayLead: () => boolean
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

/** The lease of a process that no other one can take anything from. */
const ALWAYS: Pick<LeaseRounds, 'isHeld' | 'close'> = { isHeld: () => true, close: async () => undefined }

/** Creates the roles of a node. With SQLite one process owns the data: it leads everything, without leases. */
export function createRoles({ roles, store, holder, mayLead, log }: RolesOptions): Roles {
  const rounds: { readonly name: LeaseName; readonly lease: Pick<LeaseRounds, 'isHeld' | 'close'> }[] = []
  const isAlone = store.read.engine === 'sqlite'

  return {
    has: (role) => roles.includes(role),
    isAlone,
    async lead(name, open, work, tell) {
      if (isAlone) {
        rounds.push({ name, lease: ALWAYS })
        return work({ store, fencedLog: (own) => own, open })
      }
      if (!roles.includes(name.role)) return
      const opened = openLease({
        store,
        name,
        holder,
        mayLead,
        log,
        tell,
        lead: (lease, ofTerm) =>
          work({ store: fenced(store, lease), fencedLog: (own) => fencedLog(own, lease), open: ofTerm }),
      })
      rounds.push({ name, lease: opened })
      open.defer(() => opened.close())
      await opened.tried
    },
    leads: () => rounds.map(({ name, lease }) => ({ ...name, isHeld: lease.isHeld() })),
    release: async () => void (await Promise.all(rounds.map(({ lease }) => lease.close()))),
  }
}
