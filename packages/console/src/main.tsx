import './ui/theme.css'
import './ui/base.css'
import './ui/controls.css'
import './ui/choices.css'
import './ui/table.css'
import './ui/messages.css'
import './ui/dialog.css'
import { render } from 'preact'
import { App } from './app/App.tsx'
import { start } from './app/start.ts'
import { applyTheme } from './ui/theme.ts'

applyTheme()
start()
render(<App />, document.querySelector('#app') ?? document.body)
