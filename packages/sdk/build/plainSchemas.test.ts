import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Annotated, Closed, DecimalSchema, Nullable, OneOf } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { plainSchemas } from './plainSchemas.ts'

const KindSchema = OneOf(['small', 'large'], { title: 'ThingKind', description: 'Size of a thing.' })
const PartSchema = Closed(
  { price: DecimalSchema },
  { price: 'Price in USD.' },
  { title: 'Part', description: 'A part.' },
)
const ThingSchema = Closed(
  {
    kind: Annotated(KindSchema, { description: 'Its size.' }),
    part: Nullable(PartSchema),
    parts: Type.Optional(Type.Array(PartSchema)),
  },
  { kind: 'Its size.', part: 'One part; null when there is none.', parts: 'All parts.' },
  { title: 'Thing', description: 'A thing.' },
)

const PARTS = `import { type Static, type TSchema } from "@sinclair/typebox";
/** Written by hand and dropped. */
export declare const PartSchema: import("@sinclair/typebox").TObject<{}>;
export type Part = Static<typeof PartSchema>;
export declare function Nullable<Schema extends TSchema>(schema: Schema): import("@sinclair/typebox").TUnion<[Schema]>;
export declare const MAX_CHARS = 64;
`

const THINGS = `import { type Static } from "@sinclair/typebox";
/** The sides. */
export declare const SIDES: readonly ["long", "short"];
export declare const ThingSchema: import("@sinclair/typebox").TObject<{}>;
export type ThingRecord = Static<typeof ThingSchema>;
export declare const MESSAGES: {
    readonly ping: import("@sinclair/typebox").TObject<{}>;
};
`

describe('declarations of schemas', () => {
  const texts = plainSchemas(
    [
      { file: 'parts', declarations: PARTS, exports: { PartSchema, MAX_CHARS: 64 } },
      {
        file: 'things',
        declarations: THINGS,
        exports: { ThingSchema, SIDES: ['long', 'short'], MESSAGES: { ping: Type.Object({ thing: ThingSchema }) } },
      },
    ],
    (title, field) => (title === 'Part' && field === 'price' ? '60000' : undefined),
  )

  it('are interfaces with the meaning of each field, and its recorded example', () => {
    const expected = [
      '/** A part. */',
      'export interface Part {',
      '  /** Price in USD. Example: `"60000"`. */',
      '  readonly price: string;',
      '}',
    ]
    assert.ok(texts.get('parts')!.includes(expected.join('\n')), texts.get('parts'))
  })

  it('refer to each other by name, also across files', () => {
    const things = texts.get('things')!
    assert.match(things, /^import type \{ Part \} from '\.\/parts\.js';$/m)
    assert.match(things, /^export interface ThingRecord \{$/m)
    assert.match(things, /^ {2}readonly kind: ThingKind;$/m)
    assert.match(things, /^ {2}readonly part: Part \| null;$/m)
    assert.match(things, /^ {2}readonly parts\?: Array<Part>;$/m)
    assert.match(things, /^\/\*\* Size of a thing\. \*\/\nexport type ThingKind = "small" \| "large";$/m)
    assert.match(things, /ping: \{ static: \{\n.*\n {2}readonly thing: ThingRecord;\n\} \}/)
  })

  it('lose the library, and keep everything else', () => {
    for (const text of texts.values()) assert.doesNotMatch(text, /typebox|Nullable|Written by hand/)
    assert.match(texts.get('things')!, /^\/\*\* The sides\. \*\/\nexport declare const SIDES/m)
    assert.match(texts.get('parts')!, /^export declare const MAX_CHARS = 64;$/m)
  })
})
