import { csvOfBooks, type AccountReads, type BooksFile } from '@bezel/sdk'

/** The CSV files that are offered, in the order of their buttons. */
export const BOOKS_FILES: readonly { readonly name: BooksFile; readonly label: string; readonly testId: string }[] = [
  { name: 'books.csv', label: 'Books', testId: 'csv-books' },
  { name: 'fills.csv', label: 'Fills', testId: 'csv-fills' },
  { name: 'positions.csv', label: 'Positions', testId: 'csv-positions' },
  { name: 'orders.csv', label: 'Open orders', testId: 'csv-orders' },
]

const PAGE_SIZE = 500

/** The reads that the files are made of. */
export type BooksReads = Pick<AccountReads, 'allFills' | 'positions' | 'openOrders'>

/** Reads the account anew and returns one of its CSV files, so that all sums in it are of one moment. */
export async function readBooksFile(account: BooksReads, name: BooksFile): Promise<string> {
  const fills = await Array.fromAsync(account.allFills({ pageSize: PAGE_SIZE }))
  const [positions, orders] = await Promise.all([account.positions(), account.openOrders()])
  return csvOfBooks({ fills, positions, orders })[name]
}

/** Lets the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
