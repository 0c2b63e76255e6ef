import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from '@sinclair/typebox'
import { schemaType } from './schemaType.ts'

describe('a schema as a type', () => {
  it('knows what the interface uses', () => {
    const schema = Type.Object({
      id: Type.String({ pattern: '^0x', description: 'Its address.' }),
      side: Type.Union([Type.Literal('long'), Type.Literal('short')]),
      price: Type.Union([Type.String(), Type.Null()]),
      count: Type.Optional(Type.Integer()),
      isOpen: Type.Boolean(),
      levels: Type.Array(Type.Union([Type.Number(), Type.Literal(true)])),
    })
    const expected = [
      '{',
      '  /** Its address. */',
      '  readonly id: `0x${string}`;',
      '  readonly side: "long" | "short";',
      '  readonly price: string | null;',
      '  readonly count?: number;',
      '  readonly isOpen: boolean;',
      '  readonly levels: Array<number | true>;',
      '}',
    ]
    assert.equal(schemaType(schema), expected.join('\n'))
  })

  it('refuses what it does not know', () => {
    assert.throws(() => schemaType(Type.BigInt()), /teach it/)
  })
})
