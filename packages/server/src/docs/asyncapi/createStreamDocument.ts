import { TRADER_HEADER } from '../../access/signatureHeaders.ts'
import { JSON_TYPE } from '../../http/route.ts'
import { INTERFACE_VERSION } from '../../http/routes/system/getIndex.ts'
import { sendShared } from '../../http/sharedAnswer.ts'
import { unpooledBytes } from '../../ground/unpooledBytes.ts'
import { CHAIN_SLUGS, CLIENT_MESSAGES, CONTROL_MESSAGES, DATA_MESSAGES, CLOSE_CODES } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { DEFAULT_BOUNDS, type StreamBounds } from '../../stream/bounds.ts'
import type { Ref, SecurityScheme } from '../openapi/openapiDocument.ts'
import {
  createSchemaDescriber,
  type DocumentObject,
  type Schema,
  type SchemaDescriber,
  type Schemas,
} from '../openapi/schemaDescriber.ts'
import { collectExamples } from '../openapi/withExamples.ts'
import { readRecording } from '../recorded/recording.ts'
import {
  CLIENT_SUMMARIES,
  CONTROL_SUMMARIES,
  DATA_SUMMARIES,
  STREAM_OPERATIONS,
  type StreamOperation,
} from './streamMessages.ts'
import type { FastifyInstance } from 'fastify'

/** The part of AsyncAPI 3.0 that the document of this service uses. */
export interface AsyncapiDocument {
  readonly asyncapi: '3.0.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string } & DocumentObject
  readonly defaultContentType: string
  readonly servers: DocumentObject
  readonly channels: Readonly<Record<string, AsyncapiChannel>>
  readonly operations: Readonly<Record<string, AsyncapiOperation>>
  readonly components: {
    readonly messages: Readonly<Record<string, AsyncapiMessage>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
    readonly schemas: Schemas
  }
}

interface AsyncapiChannel {
  readonly address: string
  readonly title: string
  readonly parameters: { readonly chain: { readonly enum: readonly string[]; readonly description: string } }
  readonly messages: Readonly<Record<string, Ref>>
  readonly bindings: DocumentObject
}

export interface AsyncapiOperation {
  readonly action: 'receive' | 'send'
  readonly summary: string
  readonly channel: Ref
  readonly security?: readonly Ref[]
  readonly messages: readonly Ref[]
  readonly reply?: { readonly channel: Ref; readonly messages: readonly Ref[] }
}

export interface AsyncapiMessage {
  readonly name: string
  readonly summary: string
  readonly payload: Schema
  readonly examples: readonly { readonly payload: unknown }[]
}

export interface StreamDocumentOptions {
  /** Prefix of the headers that carry credentials. */
  readonly headerPrefix: string
  /** Bounds that differ from `DEFAULT_BOUNDS`. */
  readonly bounds?: Partial<StreamBounds>
}

const CHANNEL = '#/channels/stream'

const CLOSE_REASONS: Readonly<Record<keyof typeof CLOSE_CODES, string>> = {
  normal: 'the client closed it',
  binary: 'a binary message; only text is understood',
  tooLarge: 'a message above the limit',
  shutdown: 'the service stops, or reads its data again: connect again',
  idle: 'the client sent nothing for too long',
  rateLimited: 'too many messages, or private events that were not read in time: connect again and resume',
}

/** Serves GET /asyncapi.json, the document of the WebSocket. */
export function serveAsyncapi(app: FastifyInstance, options: StreamDocumentOptions): void {
  let body: Buffer | undefined
  app.get('/asyncapi.json', (request, reply) => {
    body ??= unpooledBytes(JSON.stringify(createStreamDocument(options)))
    return sendShared(request, reply, { type: JSON_TYPE, body })
  })
}

/** Creates the AsyncAPI document of a deployment's WebSocket from the schemas of its messages. */
export function createStreamDocument({ headerPrefix, bounds }: StreamDocumentOptions): AsyncapiDocument {
  const describer = createSchemaDescriber()
  const messages = messagesOf(describer)
  const schemas = describer.components()
  const examples = collectExamples(schemas)
  for (const { payload, examples: recorded } of Object.values(messages)) {
    for (const example of recorded) examples.collect(payload, example.payload)
  }
  // Orders and positions have fields that no recorded message has a value of.
  const { getOrder = [], listPositions = [] } = readRecording().operations
  for (const { answer } of getOrder) examples.collect(schemas.Order, answer)
  for (const { answer } of listPositions)
    examples.collect({ items: schemas.Position! }, (answer as { data: unknown }).data)
  const document: AsyncapiDocument = {
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
    components: { messages, securitySchemes: securitySchemes(headerPrefix), schemas },
  }
  return withoutSiblings(examples.addTo(document)) as AsyncapiDocument
}

/**
 * Returns a copy in which nothing stands beside a reference: AsyncAPI reads schemas by JSON Schema draft 7, which
 * ignores it there.
 */
function withoutSiblings(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutSiblings)
  if (typeof node !== 'object' || node === null) return node
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, inner]) => [key, withoutSiblings(inner)]),
  )
  if ($ref === undefined) return rest
  return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest }
}

/** The server's host as a variable, because a document can't say where it was served from. */
const HOST = {
  host: '{host}',
  variables: { host: { default: '127.0.0.1:8080', description: 'Host and port of the service.' } },
}

const SERVERS: DocumentObject = {
  plain: { ...HOST, protocol: 'ws', description: 'The service itself, without TLS.' },
  tls: { ...HOST, protocol: 'wss', description: 'The service behind a proxy that terminates TLS.' },
}

function channelOf(messageIds: readonly string[]): AsyncapiChannel {
  return {
    address: '/v1/{chain}/ws',
    title: 'Stream of one chain',
    parameters: { chain: { enum: CHAIN_SLUGS, description: 'Name of the chain.' } },
    messages: Object.fromEntries(messageIds.map((id) => [id, { $ref: `#/components/messages/${id}` }])),
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
  }
}

function messagesOf(describer: SchemaDescriber): AsyncapiDocument['components']['messages'] {
  return {
    ...messagesIn('client', CLIENT_MESSAGES, CLIENT_SUMMARIES, describer),
    ...messagesIn('control', CONTROL_MESSAGES, CONTROL_SUMMARIES, describer),
    ...messagesIn('data', DATA_MESSAGES, DATA_SUMMARIES, describer),
  }
}

/**
 * Describes the messages of one kind, with those of the recording as examples. Their ids include the kind, because both
 * ends send a `ping`.
 */
function messagesIn<Table extends Readonly<Record<string, TSchema>>>(
  kind: MessageKind,
  schemas: Table,
  summaries: Readonly<Record<keyof Table, string>>,
  describer: SchemaDescriber,
): AsyncapiDocument['components']['messages'] {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const id = messageId(kind, name)
      const examples = (readRecording().messages[id] ?? []).map((payload) => ({ payload }))
      return [id, { name: id, summary: summaries[name]!, payload: describer.describe(schema), examples }]
    }),
  )
}

type MessageKind = 'client' | 'control' | 'data'

function messageId(kind: MessageKind, name: string): string {
  return kind + name.charAt(0).toUpperCase() + name.slice(1)
}

function operationOf({ action, summary, isPrivate, client, control, data, reply }: StreamOperation): AsyncapiOperation {
  return {
    action,
    summary,
    channel: { $ref: CHANNEL },
    ...(isPrivate === true ? { security: SECURITY } : {}),
    messages: [...messageRefs('client', client), ...messageRefs('control', control), ...messageRefs('data', data)],
    ...(reply === undefined ? {} : { reply: { channel: { $ref: CHANNEL }, messages: messageRefs('control', reply) } }),
  }
}

function messageRefs(kind: MessageKind, names: readonly string[] = []): Ref[] {
  return names.map((name) => ({ $ref: `${CHANNEL}/messages/${messageId(kind, name)}` }))
}

const SECURITY = ['AgentSignature', 'ApiKey'].map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))

/**
 * Describes the headers of the upgrade request. The messages `clientAuthAgent` and `clientAuthKey` carry the same
 * values later.
 */
function securitySchemes(prefix: string): Readonly<Record<string, SecurityScheme>> {
  const others = ['Agent', 'Timestamp', 'Nonce'].map((suffix) => `\`${prefix}${suffix}\``)
  return {
    AgentSignature: {
      type: 'httpApiKey',
      in: 'header',
      name: `${prefix}Signature`,
      description: [
        `EIP-712 signature of the agent, sent on the upgrade request together with ${others.join(', ')}, or later in the message`,
        '`auth`. It signs primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws` and the hash of an empty body. `GET /v1/{chain}` answers with the domain and the fields.',
        `With \`${prefix}${TRADER_HEADER}\` (\`trader\` in the message) credentials of any other trader are refused with \`TRADER_MISMATCH\`.`,
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

/** Returns the introduction of the document: what holds for all messages. */
function streamText(bounds: StreamBounds): string {
  return [
    'One socket per chain carries public market data and the private events of one trader. All messages are JSON text.',
    '',
    limitsText(bounds),
    '',
    'Close codes:',
    '',
    ...closeCodeLines(),
    '',
    'A refused upgrade is answered over HTTP with the errors of the REST operations: 401 or 403 for bad credentials, 404 for an unknown chain, 429',
    'for too many sockets or requests.',
  ].join('\n')
}

function limitsText(bounds: StreamBounds): string {
  return [
    `Limits: ${bounds.maxSubscriptions} subscriptions per socket, ${bounds.maxMessageBytes} bytes per client message,`,
    `${bounds.maxMessagesPerSecond} client messages per second, ${bounds.maxSocketsPerIp} sockets per IP. The service pings every`,
    `${bounds.heartbeatMs / 1_000} s and closes a socket that sent nothing for ${bounds.idleMs / 1_000} s. A reader that falls`,
    'behind gets snapshots instead of older public data; one that leaves private events unread is closed.',
  ].join('\n')
}

function closeCodeLines(): string[] {
  return (Object.keys(CLOSE_CODES) as (keyof typeof CLOSE_CODES)[]).map(
    (name) => `- ${CLOSE_CODES[name]}: ${CLOSE_REASONS[name]}`,
  )
}
