/** Style sheets, which a component imports for their effect: the bundler gathers them, and nothing is exported. */
declare module '*.css'
