// The rules of AsyncAPI 3.0 for the parts that the document uses, as a JSON schema. For tests.

const ref = {
  type: 'object',
  required: ['$ref'],
  properties: { $ref: { type: 'string' } },
  additionalProperties: false,
}
const refs = { type: 'array', items: ref, uniqueItems: true }
const text = { type: 'string', minLength: 1 }
/** Rule for the keys of the maps that references point into. */
const names = { pattern: '^[A-Za-z0-9_-]+$' }

function closed(properties: Record<string, object>, required: readonly string[]): object {
  return { type: 'object', properties, required, additionalProperties: false }
}

function mapOf(values: object): object {
  return { type: 'object', minProperties: 1, propertyNames: names, additionalProperties: values }
}

const server = closed(
  {
    host: text,
    protocol: { enum: ['ws', 'wss'] },
    description: text,
    variables: mapOf(closed({ default: text, description: text, enum: { type: 'array', items: text } }, [])),
  },
  ['host', 'protocol'],
)

const channel = closed(
  {
    address: text,
    title: text,
    description: text,
    parameters: mapOf(closed({ enum: { type: 'array', items: text }, description: text }, [])),
    messages: mapOf(ref),
    bindings: closed({ ws: closed({ method: { enum: ['GET', 'POST'] }, bindingVersion: text }, []) }, []),
  },
  [],
)

const operation = closed(
  {
    action: { enum: ['send', 'receive'] },
    channel: ref,
    summary: text,
    security: { type: 'array', items: ref, minItems: 1 },
    messages: refs,
    reply: closed({ channel: ref, messages: refs }, []),
  },
  ['action', 'channel'],
)

const message = closed(
  {
    name: text,
    summary: text,
    payload: { type: 'object' },
    examples: { type: 'array', minItems: 1, items: closed({ payload: { type: 'object' }, name: text }, ['payload']) },
  },
  ['payload'],
)

const securityScheme = closed(
  { type: { const: 'httpApiKey' }, in: { enum: ['query', 'header', 'cookie'] }, name: text, description: text },
  ['type', 'in', 'name'],
)

export const ASYNCAPI_RULES: object = closed(
  {
    asyncapi: { const: '3.0.0' },
    info: closed(
      { title: text, version: text, description: text, license: closed({ name: text, url: text }, ['name']) },
      ['title', 'version'],
    ),
    defaultContentType: text,
    servers: mapOf(server),
    channels: mapOf(channel),
    operations: mapOf(operation),
    components: closed(
      { messages: mapOf(message), securitySchemes: mapOf(securityScheme), schemas: mapOf({ type: 'object' }) },
      [],
    ),
  },
  ['asyncapi', 'info'],
)
