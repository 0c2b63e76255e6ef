import { account } from './account.ts'
import { agentAuthorise } from './agentAuthorise.ts'
import { agentNew } from './agentNew.ts'
import { agentRevoke } from './agentRevoke.ts'
import { agentStatus } from './agentStatus.ts'
import { cancel } from './cancel.ts'
import { close } from './close.ts'
import type { Command } from './command.ts'
import { keyIssue } from './keyIssue.ts'
import { markets } from './markets.ts'
import { order } from './order.ts'
import { orders } from './orders.ts'
import { positions } from './positions.ts'
import { price } from './price.ts'
import { watch } from './watch.ts'

/** Every command, in the order of `bezel --help`. */
export const COMMANDS: readonly Command[] = [
  markets,
  price,
  agentNew,
  agentAuthorise,
  agentStatus,
  agentRevoke,
  keyIssue,
  account,
  order,
  orders,
  positions,
  close,
  cancel,
  watch,
]
