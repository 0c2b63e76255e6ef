import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OpenapiDocument } from '../../packages/server/src/docs/openapi/openapiDocument.ts'
import type { Schemas } from '../../packages/server/src/docs/openapi/schemaDescriber.ts'
import { pythonApi } from './pythonApi.ts'
import { pythonContracts } from './pythonContracts.ts'
import { pythonRefusals } from './pythonRefusals.ts'
import { createPythonTypes, docLines, pascal, snake } from './pythonTypes.ts'

const SCHEMAS: Schemas = {
  Decimal: { type: 'string' },
  Side: { type: 'string', enum: ['long', 'short'], description: 'The side.' },
  Order: {
    type: 'object',
    description: 'An order.',
    required: ['side', 'fill'],
    properties: {
      side: { $ref: '#/components/schemas/Side' },
      fill: {
        anyOf: [
          { type: 'object', required: ['price'], properties: { price: { $ref: '#/components/schemas/Decimal' } } },
          { type: 'null' },
        ],
      },
      note: { type: 'string', description: 'A "note" with \\ in it.' },
    },
  },
  PlaceRequest: { type: 'object', required: ['size'], properties: { size: { $ref: '#/components/schemas/Decimal' } } },
  Span: { type: 'object', required: ['from'], properties: { from: { type: 'integer' }, to: { type: 'integer' } } },
  Event: {
    anyOf: [
      { type: 'object', required: ['kind'], properties: { kind: { type: 'string', const: 'opened' } } },
      { type: 'object', required: ['kind'], properties: { kind: { type: 'string', enum: ['closed', 'cut'] } } },
    ],
  },
}

describe('the types of the Python client', () => {
  const types = createPythonTypes(SCHEMAS)
  const text = types.text()

  it('are dictionaries whose optional fields say so', () => {
    assert.match(text, /class Order\(TypedDict\):\n {4}"""An order\."""\n\n {4}side: Side\n/)
    assert.match(text, /fill: Union\[OrderFill, None\]\n {4}note: NotRequired\[str\]\n/)
    assert.match(text, /class OrderFill\(TypedDict\):\n {4}price: DecimalText/)
  })

  it('take numbers of two kinds in requests, and give text', () => {
    assert.match(text, /class PlaceRequest\(TypedDict\):\n {4}size: Numeric/)
    assert.match(text, /^DecimalText = str$/m)
  })

  it('have fields that are words of the language, and a name for each choice', () => {
    assert.match(text, /Span = TypedDict\("Span", \{\n {4}"from": "int",\n {4}"to": "NotRequired\[int\]",\n\}\)/)
    assert.match(text, /^Event = Union\[EventOpened, EventClosedCut\]$/m)
  })

  it('are asked for by schema, and unknown ones are refused', () => {
    const list = { type: 'array', items: { $ref: '#/components/schemas/Order' } }
    assert.equal(types.typeOf(list, 'ListAnswer'), 'list[Order]')
    assert.throws(() => types.typeOf({ $ref: '#/components/schemas/Nope' }, 'x'), /no schema Nope/)
    assert.throws(() => types.typeOf({ type: 'number' }, 'x'), /no Python type/)
  })
})

describe('the operations of the Python client', () => {
  const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
  const document = {
    paths: {
      '/v1/{chain}/account/{address}/orders/{id}': {
        patch: {
          operationId: 'changeOrder',
          tags: [],
          summary: 'Changes an order',
          security: [{ AgentSignature: [] }],
          parameters: [
            { name: 'chain', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'address', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'from', in: 'query', schema: { type: 'integer' }, description: 'The start.' },
            { name: 'side', in: 'query', required: true, schema: { $ref: '#/components/schemas/Side' } },
          ],
          requestBody: { required: true, ...json({ $ref: '#/components/schemas/PlaceRequest' }) },
          responses: { '200': json({ $ref: '#/components/schemas/Order' }), '400': json({ type: 'string' }) },
        },
      },
    },
    components: { parameters: {}, responses: {}, schemas: SCHEMAS },
  } as never as OpenapiDocument
  const text = pythonApi(document, createPythonTypes(SCHEMAS))

  it('are in one table', () => {
    const row =
      '"changeOrder": Operation("changeOrder", "PATCH", "/v1/{chain}/account/{address}/orders/{id}", "agent", (200,)),'
    assert.ok(text.includes(row))
  })

  it('have one method each for both kinds of callers, with the same parameters', () => {
    const parameters = [
      'self',
      'id: str',
      'body: types.PlaceRequest',
      '*',
      'address: Union[str, None] = None',
      'side: types.Side',
      'from_: Union[int, None] = None',
    ]
    const signature = `def change_order(\n${parameters.map((line) => `        ${line},\n`).join('')}    ) -> types.Order:`
    assert.equal(text.split(signature).length, 3)
    assert.match(text, /async def change_order/)
    assert.match(text, /"""Changes an order\.\n\n {8}`from_`: The start\.\n {8}"""/)
    assert.match(text, /path=\{"address": address, "id": id\}, query=\{"from": from_, "side": side\}, body=body\)/)
  })
})

describe('the rest of the Python client', () => {
  it('has a class for each code, with its details', () => {
    const text = pythonRefusals()
    assert.match(text, /class RateLimited\(ApiError\):[\s\S]*?retryable = True\n {4}details: RateLimitedDetails/)
    assert.match(text, /"NONCE_REUSED": NonceReused,/)
  })

  it('has the functions of the Diamond with their types', () => {
    const text = pythonContracts()
    assert.match(text, /Function\("updateSl\(uint32,uint64\)"\)/)
    assert.match(text, /Function\("getCollaterals\(\)->\(address,bool,uint88,uint128,uint128\)\[\]"\)/)
    assert.match(text, /"arbitrum": Chain\(42161, "0x/)
  })

  it('has names and texts that Python can read', () => {
    assert.deepEqual(['listApiKeys', 'from', 'getOrder'].map(snake), ['list_api_keys', 'from_', 'get_order'])
    assert.deepEqual(['delegationTx', 'rate_limited', '1m'].map(pascal), ['DelegationTx', 'RateLimited', '1m'])
    assert.deepEqual(docLines('ends with "quotes"', ''), ['"""ends with "quotes"', '"""'])
    assert.deepEqual(docLines('a \\ b', '  '), ['  """a \\\\ b"""'])
    assert.deepEqual(docLines(undefined, ''), [])
    assert.ok(docLines('word '.repeat(60).trim(), '').every((line) => line.length <= 120))
  })
})
