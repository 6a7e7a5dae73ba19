/* Takes the place of the theme's file of this name: 1.5 MB of drawings for a dozen icons, which its font has as well. */
