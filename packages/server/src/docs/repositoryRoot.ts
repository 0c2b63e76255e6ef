/** The folder of the whole project: the service runs from its repository. */
export const REPOSITORY_ROOT = new URL('../../../../', import.meta.url)
