import type { Subscription } from '../channel.ts'
import type { Connection } from '../connection.ts'
import type { Shared } from '../../ground/shared.ts'
import type { Topic } from './topic.ts'

/** A topic whose state has to be read before it can be told. */
export interface LoadedTopic {
  readonly topic: Topic
  readonly loaded: Promise<unknown>
}

/** Subscribes once the state is there; all who come meanwhile wait for the same reading. */
export async function subscribeLoaded(
  topics: Shared<string, LoadedTopic>,
  key: string,
  connection: Connection,
): Promise<Subscription> {
  const { topic, loaded } = topics.hold(key)
  try {
    await loaded
  } catch (error) {
    topics.discard(key)
    throw error
  }
  return topic.subscribe(connection, () => topics.release(key))
}
