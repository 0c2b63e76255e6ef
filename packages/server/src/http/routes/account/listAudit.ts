import { AuditPageSchema } from '@bezel/protocol'
import { listAudit } from '../../../store/auditStore.ts'
import { PAGE_QUERY, pageOf, pageQuery, type CursorFormat } from '../../parameters.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute } from '../../route.ts'

const CURSOR_PATTERN = /^a([1-9]\d{0,14})$/

/** A cursor is the id of the last entry of a page, after a letter that tells this list's cursors from others. */
const CURSOR: CursorFormat<number> = {
  toText: (id) => `a${id}`,
  fromText: (text) => {
    const [, id] = CURSOR_PATTERN.exec(text) ?? []
    return id === undefined ? undefined : Number(id)
  },
}

export const listAuditRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/audit',
  operationId: 'listAudit',
  tag: 'Account',
  access: 'read',
  summary: 'Lists the changes of rights on the account, newest first',
  description:
    'Agents that were added, changed or ended, API keys, delegations that were seen or lost, actions that the relayer refused for their gas, and pauses by the operator.',
  errors: ['TRADER_MISMATCH'],
  query: PAGE_QUERY,
  responses: { 200: AuditPageSchema },
  async handler(context: AccountContext, request) {
    const { chain, trader } = ownAccount(context, request)
    const { cursor, limit } = pageQuery(request.query, CURSOR)
    const entries = await listAudit(context.store.read, { chain, trader, cursor, limit: limit + 1 })
    const { items, nextCursor } = pageOf(entries, limit, ({ id }) => id, CURSOR)
    return { data: items, nextCursor }
  },
})
