import { format } from 'prettier'
import { createStreamDocument } from '../packages/server/src/http/asyncapi/createStreamDocument.ts'
import { errorPage } from '../packages/server/src/http/openapi/errorPage.ts'
import { referenceDocument } from '../packages/server/src/http/openapi/referenceDocument.ts'
import { SERVER_SETTINGS } from '../packages/server/src/config.ts'

/** As the rest of the project is formatted. */
const PRINT_WIDTH = 120

/** The reference as it must be committed: text by path from the root of the project. */
export async function generatedReference(): Promise<Readonly<Record<string, string>>> {
  const headerPrefix = SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue
  return {
    'docs/reference/openapi.json': await jsonText(referenceDocument()),
    'docs/reference/asyncapi.json': await jsonText(createStreamDocument({ headerPrefix })),
    'docs/reference/errors.md': errorPage(),
  }
}

function jsonText(document: object): Promise<string> {
  return format(JSON.stringify(document, undefined, 2), { parser: 'json', printWidth: PRINT_WIDTH })
}
