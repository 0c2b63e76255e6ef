import type { Static, TSchema } from '@sinclair/typebox'

/** What the document says of a message beyond its schema. */
export interface MessageEntry<Payload> {
  readonly summary: string
  /** At least one; each is valid against the schema. */
  readonly examples: readonly [Payload, ...Payload[]]
}

/** An entry for each message of a list of schemas. */
export type MessageTable<Schemas extends Readonly<Record<string, TSchema>>> = {
  readonly [Name in keyof Schemas]: MessageEntry<Static<Schemas[Name]>>
}
