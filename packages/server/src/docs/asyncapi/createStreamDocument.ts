import { CHAIN_SLUGS, CLIENT_MESSAGES, CONTROL_MESSAGES, DATA_MESSAGES } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { DEFAULT_BOUNDS, type StreamBounds } from '../../stream/bounds.ts'
import { createSchemaDescriber, type Json, type JsonObject, type SchemaDescriber } from '../openapi/schemaDescriber.ts'
import { CLIENT_ENTRIES } from './clientMessages.ts'
import { CONTROL_ENTRIES } from './controlMessages.ts'
import { DATA_ENTRIES } from './dataMessages.ts'
import type { MessageEntry } from './messageEntry.ts'
import { STREAM_OPERATIONS, type StreamOperation } from './streamOperations.ts'
import { streamText } from './streamText.ts'

/** An AsyncAPI 3.0 document. */
export interface AsyncapiDocument {
  readonly asyncapi: '3.0.0'
  readonly info: JsonObject
  readonly defaultContentType: string
  readonly servers: JsonObject
  readonly channels: JsonObject
  readonly operations: JsonObject
  readonly components: JsonObject
}

export interface StreamDocumentOptions {
  /** Of the headers that carry credentials. */
  readonly headerPrefix: string
  /** Where they differ from the usual ones. */
  readonly bounds?: Partial<StreamBounds>
}

/** Of the interface, not of the program. */
const INTERFACE_VERSION = '1.0.0'

const CHANNEL = '#/channels/stream'

/** The WebSocket of a deployment, made from the schemas of its messages. */
export function createStreamDocument({ headerPrefix, bounds }: StreamDocumentOptions): AsyncapiDocument {
  const describer = createSchemaDescriber()
  const messages = messagesOf(describer)
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Bezel Stream',
      version: INTERFACE_VERSION,
      description: streamText({ ...DEFAULT_BOUNDS, ...bounds }),
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: { stream: channelOf(Object.keys(messages)) },
    operations: Object.fromEntries(
      Object.entries(STREAM_OPERATIONS).map(([name, operation]) => [name, operationOf(operation)]),
    ),
    components: { messages, securitySchemes: securitySchemes(headerPrefix), schemas: describer.components() },
  }
}

/** A document can't say "where it was served from", so the host is left to the reader. */
const HOST = {
  host: '{host}',
  variables: { host: { default: '127.0.0.1:8080', description: 'Where the service is.' } },
}

const SERVERS: JsonObject = {
  plain: { ...HOST, protocol: 'ws', description: 'As the service itself listens.' },
  tls: { ...HOST, protocol: 'wss', description: 'Behind a proxy that ends TLS.' },
}

function channelOf(messageIds: readonly string[]): JsonObject {
  return {
    address: '/v1/{chain}/ws',
    title: 'Stream of one chain',
    parameters: { chain: { enum: CHAIN_SLUGS, description: 'Name of the chain.' } },
    messages: Object.fromEntries(messageIds.map((id) => [id, { $ref: `#/components/messages/${id}` }])),
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
  }
}

function messagesOf(describer: SchemaDescriber): JsonObject {
  return {
    ...messagesIn('client', CLIENT_MESSAGES, CLIENT_ENTRIES, describer),
    ...messagesIn('control', CONTROL_MESSAGES, CONTROL_ENTRIES, describer),
    ...messagesIn('data', DATA_MESSAGES, DATA_ENTRIES, describer),
  }
}

/** Both ends say `ping`, so a message is called after who says it, too. */
function messagesIn<Schemas extends Readonly<Record<string, TSchema>>>(
  kind: MessageKind,
  schemas: Schemas,
  entries: Readonly<Record<keyof Schemas, MessageEntry<unknown>>>,
  describer: SchemaDescriber,
): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { summary, examples } = entries[name]!
      const payload = describer.describe(schema)
      return [
        messageId(kind, name),
        {
          name: messageId(kind, name),
          summary,
          payload,
          examples: examples.map((example) => ({ payload: example as Json })),
        },
      ]
    }),
  )
}

type MessageKind = 'client' | 'control' | 'data'

function messageId(kind: MessageKind, name: string): string {
  return kind + name.charAt(0).toUpperCase() + name.slice(1)
}

function operationOf({ action, summary, isPrivate, client, control, data, reply }: StreamOperation): JsonObject {
  return {
    action,
    summary,
    channel: { $ref: CHANNEL },
    ...(isPrivate === true ? { security: SECURITY } : {}),
    messages: [...messageRefs('client', client), ...messageRefs('control', control), ...messageRefs('data', data)],
    ...(reply === undefined ? {} : { reply: { channel: { $ref: CHANNEL }, messages: messageRefs('control', reply) } }),
  }
}

function messageRefs(kind: MessageKind, names: readonly string[] = []): JsonObject[] {
  return names.map((name) => ({ $ref: `${CHANNEL}/messages/${messageId(kind, name)}` }))
}

const SECURITY = ['AgentSignature', 'ApiKey'].map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))

/** Headers of the upgrade; the messages `clientAuthAgent` and `clientAuthKey` say the same later. */
function securitySchemes(prefix: string): JsonObject {
  const others = ['Agent', 'Timestamp', 'Nonce'].map((suffix) => `\`${prefix}${suffix}\``)
  return {
    AgentSignature: {
      type: 'httpApiKey',
      in: 'header',
      name: `${prefix}Signature`,
      description: [
        `EIP-712 signature of the agent, sent on the upgrade request together with ${others.join(', ')}, or later in the message`,
        '`auth`. Primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws`, the hash of an empty body. Domain and fields: `GET /v1/{chain}`.',
      ].join(' '),
    },
    ApiKey: {
      type: 'httpApiKey',
      in: 'header',
      name: `${prefix}Api-Key`,
      description: 'A read-only key of the trader, sent on the upgrade request, or later in the message `auth`.',
    },
  }
}
