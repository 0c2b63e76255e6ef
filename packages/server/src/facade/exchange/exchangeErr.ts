/** A refusal the client is told with status 200: `{"status": "err", "response": message}`. Clients match the start of some messages. */
export class ExchangeErr extends Error {
  override readonly name = 'ExchangeErr'
}
