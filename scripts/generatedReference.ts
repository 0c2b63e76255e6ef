import { format } from 'prettier'
import { errorPage } from '../packages/server/src/http/openapi/errorPage.ts'
import { referenceDocument } from '../packages/server/src/http/openapi/referenceDocument.ts'

/** As the rest of the project is formatted. */
const PRINT_WIDTH = 120

/** The reference as it must be committed: text by path from the root of the project. */
export async function generatedReference(): Promise<Readonly<Record<string, string>>> {
  const json = JSON.stringify(referenceDocument(), undefined, 2)
  return {
    'docs/reference/openapi.json': await format(json, { parser: 'json', printWidth: PRINT_WIDTH }),
    'docs/reference/errors.md': errorPage(),
  }
}
