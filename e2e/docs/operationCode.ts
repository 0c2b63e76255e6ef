import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { call } from '@bezel/testkit/agentClient.ts'

const RUN_MS = 120_000
const PYTHON_PACKAGE = new URL('../../clients/python/', import.meta.url).pathname

/** The code of one operation, as the page of a running service shows it: by client. */
export interface OperationCode {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly code: Readonly<Record<string, string>>
}

/** Reads the code of every operation from the pages of a service. */
export async function readOperationCode(url: string): Promise<readonly OperationCode[]> {
  const { paths } = (await call(url, '/openapi.json')).body as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({ id, method: method.toUpperCase(), path })),
  )
  return Promise.all(
    operations.map(async (operation) => {
      const page = await (await fetch(`${url}/docs/rest/${operation.id}.md`)).text()
      const blocks = [...page.matchAll(/^```\w+ (\w+)\n([\s\S]*?)\n```$/gm)].map(([, label, code]) => [label!, code!])
      return { ...operation, code: Object.fromEntries(blocks) as Record<string, string> }
    }),
  )
}

/** Runs curl commands as they stand there, in one shell. Returns the status of each. */
export async function runCurl(
  codes: readonly OperationCode[],
  env: Record<string, string>,
): Promise<Map<string, string>> {
  const wrapped = 'curl() { command curl -o /dev/null -w "$ID %{http_code}\\n" "$@"; }'
  const script = [wrapped, ...codes.map(({ id, code }) => `ID=${id}\n${code.curl}`)].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { ...process.env, ...env },
    timeout: RUN_MS,
  })
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  )
}

/**
 * Runs programs in Python, or only binds the last call of each to the method's signature. Prints a line for each: its
 * id, then `ok` or the name of the error.
 */
const PYTHON = `
import ast, inspect, io, json, sys
from contextlib import redirect_stdout
import bezel
from bezel.api import Api

class Anything(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Constant(value=0), node)

def bind(code):
    call = ast.parse(code).body[-1].value.args[0]
    name, of = call.func.attr, call.func.value
    method = getattr(Api if isinstance(of, ast.Attribute) else bezel.Client, name)
    values = [ast.literal_eval(Anything().visit(arg)) for arg in call.args]
    inspect.signature(method).bind(None, *values, **{key.arg: ast.literal_eval(key.value) for key in call.keywords})

for id, code, is_run in json.load(sys.stdin):
    try:
        if is_run:
            with redirect_stdout(io.StringIO()):
                exec(compile(code, id, "exec"), {})
        else:
            bind(code)
        print(id, "ok")
    except Exception as error:
        print(id, getattr(error, "code", type(error).__name__), error)
`

/** Runs the Python programs that only read, and checks the others without running them. Returns an outcome for each. */
export async function runPython(
  command: string,
  codes: readonly (OperationCode & { readonly isRun: boolean })[],
  env: Record<string, string>,
): Promise<Map<string, string>> {
  const ran = promisify(execFile)(command, ['-c', PYTHON], {
    env: { ...process.env, ...env, PYTHONPATH: PYTHON_PACKAGE },
    timeout: RUN_MS,
  })
  ran.child.stdin!.end(JSON.stringify(codes.map(({ id, code, isRun }) => [id, code.Python, isRun])))
  const { stdout } = await ran
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.split(' ')[0]!, line.slice(line.indexOf(' ') + 1)]),
  )
}
