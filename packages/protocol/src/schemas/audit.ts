import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, NEXT_CURSOR, NextCursorSchema, Nullable, OneOf, TimestampSchema } from './scalars.ts'

/** The kinds of entries of an audit log. */
export const AUDIT_KINDS = [
  'agent_added',
  'agent_changed',
  'agent_moved_away',
  'agent_revoked',
  'agent_replaced',
  'key_issued',
  'key_replaced',
  'key_ended',
  'delegation_seen',
  'delegation_lost',
  'relay_refused',
  'paused',
  'resumed',
  'budget_set',
] as const
/** Kind of a change of rights. */
export type AuditKind = (typeof AUDIT_KINDS)[number]

const AuditKindSchema = OneOf(AUDIT_KINDS, { title: 'AuditKind', description: 'Kind of a change of rights.' })

export const AuditLogEntrySchema = Closed(
  {
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    createdAt: TimestampSchema,
    kind: AuditKindSchema,
    agent: Nullable(AddressSchema),
    keyLabel: Nullable(Type.String()),
    requestId: Nullable(Type.String()),
    detail: Nullable(Type.Record(Type.String(), Type.Unknown())),
  },
  {
    id: 'Number of the entry. Later entries have higher ones.',
    createdAt: 'Time of the change in epoch milliseconds.',
    kind: 'Kind of the change.',
    agent: 'Address of the agent that the entry is about; null when it is about none.',
    keyLabel: 'Label of the API key that the entry is about; null when it is about none.',
    requestId: '`x-request-id` of the request that caused the entry; null when no request did.',
    detail:
      'More about the change, by its kind: the scope of an agent, the reason of a refusal; null when there is none.',
  },
  {
    title: 'AuditLogEntry',
    description: 'A change of the rights on an account. It never names the network address of a caller.',
  },
)
export type AuditLogEntry = Static<typeof AuditLogEntrySchema>

export const AuditPageSchema = Closed(
  { data: Type.Array(AuditLogEntrySchema), nextCursor: NextCursorSchema },
  { data: 'Entries, newest first. The newest 2,000 are kept.', nextCursor: NEXT_CURSOR },
  { title: 'AuditPage', description: 'A page of the changes of rights on an account.' },
)
