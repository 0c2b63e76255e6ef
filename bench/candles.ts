import { fork, type ChildProcess } from 'node:child_process'
