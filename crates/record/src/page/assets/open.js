"use strict";
// Draws the diagrams of a page. The files are joined in the order of html.rs; they share this scope.
(() => {
