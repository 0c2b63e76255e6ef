import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, Nullable, TimestampSchema } from './scalars.ts'

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
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** An entry of a trader's audit log. It never names the network address of a caller. */
export const AuditLogEntrySchema = Closed({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  createdAt: TimestampSchema,
  kind: Type.Union(AUDIT_KINDS.map((kind) => Type.Literal(kind))),
  agent: Nullable(AddressSchema),
  /** Label of the API key that the entry is about. */
  keyLabel: Nullable(Type.String()),
  /** Id of the request that caused the entry; null when no request did. */
  requestId: Nullable(Type.String()),
  /** More about the event, by its kind: the scope of an agent, the reason of a refusal. */
  detail: Nullable(Type.Record(Type.String(), Type.Unknown())),
})
export type AuditLogEntry = Static<typeof AuditLogEntrySchema>

export const AuditPageSchema = Closed({ data: Type.Array(AuditLogEntrySchema), nextCursor: Nullable(Type.String()) })
