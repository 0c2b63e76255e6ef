import { format } from 'prettier'
import { lifecyclePage } from '../packages/server/src/docs/reference/lifecyclePage.ts'
import { lifecyclePicture } from '../packages/server/src/docs/reference/lifecycleDiagram.ts'
import { messagesPage } from '../packages/server/src/docs/reference/messagesPage.ts'
import { restPage } from '../packages/server/src/docs/reference/restPage.ts'
import { createStreamDocument } from '../packages/server/src/docs/asyncapi/createStreamDocument.ts'
import { settingsPage } from '../packages/server/src/docs/reference/settingsPage.ts'
import { errorPage } from '../packages/server/src/docs/reference/errorPage.ts'
import { referenceDocument } from '../packages/server/src/docs/openapi/createDocument.ts'
import { SERVER_SETTINGS } from '../packages/server/src/settings/config.ts'
import { requestCollection } from './collection/requestCollection.ts'
import { pythonClient } from './python/pythonClient.ts'

/** The line width of the whole project. */
const PRINT_WIDTH = 120

/** Returns the reference as it must be committed: text by path from the root of the project. */
export async function generatedReference(): Promise<Readonly<Record<string, string>>> {
  const headerPrefix = SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue
  const openapi = referenceDocument()
  const asyncapi = createStreamDocument({ headerPrefix })
  return {
    'docs/reference/openapi.json': await jsonText(openapi),
    'docs/reference/asyncapi.json': await jsonText(asyncapi),
    'docs/reference/rest.md': restPage(openapi),
    'docs/reference/messages.md': messagesPage(asyncapi),
    'docs/reference/errors.md': errorPage(),
    'docs/reference/settings.md': settingsPage(),
    'docs/reference/order-lifecycle.md': lifecyclePage(),
    'docs/reference/order-lifecycle.svg': lifecyclePicture(),
    ...requestCollection(openapi),
    ...pythonClient(openapi, asyncapi),
  }
}

function jsonText(document: object): Promise<string> {
  return format(JSON.stringify(document, undefined, 2), { parser: 'json', printWidth: PRINT_WIDTH })
}
