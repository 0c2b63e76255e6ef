import { chainsAndAgents } from './0001-chains-and-agents.ts'
import { orders } from './0002-orders.ts'
import { accountLog } from './0003-account-log.ts'
import { candles } from './0004-candles.ts'
import { notices } from './0005-notices.ts'
import { facade } from './0006-facade.ts'
import { relayer } from './0007-relayer.ts'
import { facadeTriggers } from './0008-facade-triggers.ts'
import { facadeSchedule } from './0009-facade-schedule.ts'
import { facadeFormerTriggers } from './0010-facade-former-triggers.ts'
import { trustedHashes } from './0011-trusted-hashes.ts'
import { positionUpdates } from './0012-position-updates.ts'
import { oldBorrowing } from './0013-old-borrowing.ts'
import { changeCharges } from './0014-change-charges.ts'
import { books } from './0015-books.ts'
import { wholeTriggers } from './0016-whole-triggers.ts'
import { claims } from './0017-claims.ts'
import { relayerExits } from './0018-relayer-exits.ts'
import { auditLog } from './0019-audit-log.ts'
import { slippageRestores } from './0020-slippage-restores.ts'
import { agentBounds } from './0021-agent-bounds.ts'
import { snapshots } from './0022-snapshots.ts'
import { attemptOrders } from './0023-attempt-orders.ts'
import { relayAims } from './0024-relay-aims.ts'
import { unreportedAttempts } from './0025-unreported-attempts.ts'
import { timeRunsForward } from './0026-time-runs-forward.ts'
import { nodes } from './0027-nodes.ts'
import { leases } from './0028-leases.ts'
import { commits } from './0029-commits.ts'
import { nonceKeeper } from './0030-nonce-keeper.ts'
import { holdingsBlock } from './0031-holdings-block.ts'
import { openPositions } from './0032-open-positions.ts'
import { triggerChanges } from './0033-trigger-changes.ts'
import type { Migration } from './migration.ts'

/** Every migration; its number is its place. */
export const MIGRATIONS: readonly Migration[] = [
  chainsAndAgents,
  orders,
  accountLog,
  candles,
  notices,
  facade,
  relayer,
  facadeTriggers,
  facadeSchedule,
  facadeFormerTriggers,
  trustedHashes,
  positionUpdates,
  oldBorrowing,
  changeCharges,
  books,
  wholeTriggers,
  claims,
  relayerExits,
  auditLog,
  slippageRestores,
  agentBounds,
  snapshots,
  attemptOrders,
  relayAims,
  unreportedAttempts,
  timeRunsForward,
  nodes,
  leases,
  commits,
  nonceKeeper,
  holdingsBlock,
  openPositions,
  triggerChanges,
]
