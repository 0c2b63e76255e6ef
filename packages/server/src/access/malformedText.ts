/** What the exchange whose shape this is says of every request it can't read; clients know the text. */
export const MALFORMED_TEXT = 'Failed to deserialize the JSON body into the target type'
