import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AddressSchema, Annotated, Closed, DecimalSchema, Nullable, SideSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { createSchemaDescriber } from './schemaDescriber.ts'

describe('the describer of schemas', () => {
  it('names what has a title, optional or not, at any depth', () => {
    const { describe: of, components } = createSchemaDescriber()
    const schema = Type.Object({
      to: AddressSchema,
      sl: Type.Optional(DecimalSchema),
      tp: Nullable(DecimalSchema),
      list: Type.Array(SideSchema),
    })
    assert.deepEqual(of(schema), {
      type: 'object',
      required: ['to', 'tp', 'list'],
      properties: {
        to: { $ref: '#/components/schemas/Address' },
        sl: { $ref: '#/components/schemas/Decimal' },
        tp: { anyOf: [{ $ref: '#/components/schemas/Decimal' }, { type: 'null' }] },
        list: { type: 'array', items: { $ref: '#/components/schemas/Side' } },
      },
    })
    assert.deepEqual(Object.keys(components()), ['Address', 'Decimal', 'Side'])
    const { description, ...side } = components().Side!
    assert.deepEqual(side, { type: 'string', enum: ['long', 'short'] })
    assert.match(description!, /gains when the price rises/)
  })

  it('keeps the meaning and the default of a field beside the reference, and that of the component apart', () => {
    const { describe: of, components } = createSchemaDescriber()
    const slippage = Type.Optional(Annotated(DecimalSchema, { default: '1' }))
    const { properties } = of(
      Closed({ slippage, size: Nullable(DecimalSchema) }, { slippage: 'Percent.', size: 'Base.' }),
    )
    const $ref = '#/components/schemas/Decimal'
    assert.deepEqual(properties, {
      slippage: { $ref, description: 'Percent.', default: '1' },
      size: { description: 'Base.', anyOf: [{ $ref }, { type: 'null' }] },
    })
    assert.equal(components().Decimal!.description, DecimalSchema.description)
  })

  it('names another schema by its title, and leaves a nameless one where it is', () => {
    const { describe: of, components } = createSchemaDescriber()
    assert.deepEqual(of(Type.Boolean()), { type: 'boolean' })
    assert.deepEqual(of(Type.Object({ a: Type.Null() }, { title: 'Thing' })), { $ref: '#/components/schemas/Thing' })
    assert.deepEqual(components(), {
      Thing: { type: 'object', required: ['a'], properties: { a: { type: 'null' } } },
    })
  })

  it('writes unions of texts as enumerations, and records as additional properties', () => {
    const { describe: of } = createSchemaDescriber()
    assert.deepEqual(of(Type.Union([Type.Literal('a'), Type.Literal('b')])), { type: 'string', enum: ['a', 'b'] })
    assert.deepEqual(of(Type.Union([Type.Literal('a'), Type.Literal(1)])), {
      anyOf: [
        { type: 'string', const: 'a' },
        { type: 'number', const: 1 },
      ],
    })
    assert.deepEqual(of(Type.Record(Type.String(), Type.Boolean())), {
      type: 'object',
      additionalProperties: { type: 'boolean' },
    })
  })

  it('does not take a field called type or properties for a keyword', () => {
    const { describe: of } = createSchemaDescriber()
    assert.deepEqual(of(Type.Object({ type: SideSchema, items: DecimalSchema, title: Type.Null() })).properties, {
      type: { $ref: '#/components/schemas/Side' },
      items: { $ref: '#/components/schemas/Decimal' },
      title: { type: 'null' },
    })
  })
})
