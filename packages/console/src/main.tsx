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
import { pageOf } from './app/views.ts'
import { route } from './router/router.ts'
import { applyTheme } from './ui/theme.ts'

applyTheme()
start()
// Beside the settings, which every view needs too. A script that can't be had is asked for again when it is drawn.
pageOf(route.peek().view)
  ?.load()
  .catch(() => undefined)
render(<App />, document.querySelector('#app') ?? document.body)
