import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from '@sinclair/typebox'
import { plainSchemas } from './plainSchemas.ts'

const DECLARATIONS = `import { type Static, type TSchema } from "@sinclair/typebox";
/** The sides. */
export declare const SIDES: readonly ["long", "short"];
/** An order. */
export declare const OrderSchema: import("@sinclair/typebox").TObject<{
    id: import("@sinclair/typebox").TString;
}>;
export type Order = Static<typeof OrderSchema>;
export declare const MESSAGES: {
    readonly ping: import("@sinclair/typebox").TObject<{}>;
};
export declare function Nullable<Schema extends TSchema>(schema: Schema): import("@sinclair/typebox").TUnion<[Schema]>;
export declare const MAX_CHARS = 64;
`

describe('declarations of schemas', () => {
  it('keep their types and lose the library', () => {
    const text = plainSchemas(DECLARATIONS, {
      SIDES: ['long', 'short'],
      OrderSchema: Type.Object({ id: Type.String() }),
      MESSAGES: { ping: Type.Object({ op: Type.Literal('ping') }) },
      MAX_CHARS: 64,
    })
    assert.doesNotMatch(text, /typebox/)
    assert.doesNotMatch(text, /Nullable/)
    assert.match(
      text,
      /^\/\*\* An order\. \*\/\nexport declare const OrderSchema: \{ static: \{\n {2}readonly id: string;\n\} \};$/m,
    )
    assert.match(text, /^export type Order = Static<typeof OrderSchema>;$/m)
    assert.match(text, /^export declare const MESSAGES: \{ ping: \{ static: \{\n {2}readonly op: "ping";\n\} \} \};$/m)
    assert.match(text, /^export declare const SIDES: readonly \["long", "short"\];$/m)
    assert.match(text, /^export declare const MAX_CHARS = 64;$/m)
  })
})
