import type { AsyncapiDocument } from '../../packages/server/src/docs/asyncapi/createStreamDocument.ts'
import type { OpenapiDocument } from '../../packages/server/src/docs/openapi/openapiDocument.ts'
import { pythonApi } from './pythonApi.ts'
import { pythonContracts } from './pythonContracts.ts'
import { pythonRefusals } from './pythonRefusals.ts'
import { createPythonTypes, pascal } from './pythonTypes.ts'

const FOLDER = 'clients/python/bezel'

/** Messages of the stream that carry events have names that begin so. */
const DATA_MESSAGE = 'data'

/** Returns the generated modules of the Python client: text by path from the root of the project. */
export function pythonClient(openapi: OpenapiDocument, asyncapi: AsyncapiDocument): Readonly<Record<string, string>> {
  const types = createPythonTypes({ ...asyncapi.components.schemas, ...openapi.components.schemas })
  const api = pythonApi(openapi, types)
  const messages = Object.entries(asyncapi.components.messages).filter(([name]) => name.startsWith(DATA_MESSAGE))
  const names = messages.map(([name, { payload }]) =>
    types.typeOf(payload, `${pascal(name.slice(DATA_MESSAGE.length))}Message`),
  )
  return {
    [`${FOLDER}/types.py`]: `${types.text()}\n${['StreamMessage = Union[', ...names.map((name) => `    ${name},`), ']'].join('\n')}\n"""A message of the stream that carries data."""\n`,
    [`${FOLDER}/api.py`]: api,
    [`${FOLDER}/refusals.py`]: pythonRefusals(),
    [`${FOLDER}/contracts.py`]: pythonContracts(),
  }
}
